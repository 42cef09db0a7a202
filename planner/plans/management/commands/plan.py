"""``manage.py plan TEAM NAME``: solve a plan here and now, and print the answer."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from fleet.planning import report_csv
from planner.jobs import runner
from planner.jobs.models import Job
from planner.plans.models import Plan
from planner.plans.plan_report import PlanReport
from planner.plans.plan_services import request_solve
from planner.plans.workload_services import Refused

UNPLACED = 3


class Command(BaseCommand):
    """Exit code 0 all placed, 3 something waits, 1 no answer."""

    help = "Solve a plan by its name and print the answer."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("team", help="slug of the team")
        parser.add_argument("name", help="name of the plan")
        parser.add_argument("--csv", action="store_true", help="print the report as CSV")

    def handle(self, *args: Any, **options: Any) -> None:
        plan = (
            Plan.objects.filter(team__slug=options["team"], name=options["name"])
            .select_related("team")
            .first()
        )
        if plan is None:
            raise CommandError(
                _("Team “%(team)s” has no plan named “%(name)s”.")
                % {"team": options["team"], "name": options["name"]}
            )
        try:
            job = request_solve(plan=plan, by=None)
        except Refused as error:
            raise CommandError(str(error)) from error
        if not runner.run(job.pk):
            raise CommandError(_("Another worker is solving this plan now; wait for it."))
        job.refresh_from_db()
        if job.state != Job.State.DONE:
            raise CommandError(f"{job.error_message} {job.error_way_out}".strip() or job.state)
        plan.refresh_from_db()
        report = PlanReport.of(plan.runs.get(pk=job.subject_id))
        if report is None:
            raise CommandError(_("The run has no answer."))
        if options["csv"]:
            self.stdout.write(report_csv(report.value, plan.name).decode(), ending="")
        else:
            self._print(report)
        if report.waiting:
            raise SystemExit(UNPLACED)

    def _print(self, report: PlanReport) -> None:
        figures = report.figures
        self.stdout.write(
            ngettext(
                "%(placed)d of %(wanted)d workload placed. %(proof)s; solved in %(time)s.",
                "%(placed)d of %(wanted)d workloads placed. %(proof)s; solved in %(time)s.",
                figures["wanted_workloads"],
            )
            % {
                "placed": figures["placed_workloads"],
                "wanted": figures["wanted_workloads"],
                "proof": report.proof,
                "time": report.solved_in,
            }
        )
        for item in report.waiting:
            self.stdout.write(
                f"waits   {item.name}  {item.waiting}/{item.wanted}  {item.result.sentence}"
            )
        for placed in report.placed:
            where = "; ".join(place.text for place in placed.places)
            self.stdout.write(
                f"placed  {placed.name}  {placed.placed}/{placed.wanted}  "
                f"{', '.join(placed.shapes)}  {where}"
            )
