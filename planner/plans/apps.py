from django.apps import AppConfig


class PlansConfig(AppConfig):
    name = "planner.plans"
    label = "plans"

    def ready(self) -> None:
        """Say which function solves plans, what to count in the menu and where to search."""
        from django.utils.translation import gettext_lazy as _

        from planner.frame import navigation, search
        from planner.inventory import declaring, pricing
        from planner.jobs import registry
        from planner.plans import price_books, queries
        from planner.plans.plan_services import JOB_KIND
        from planner.plans.solving import solve_run

        registry.register(JOB_KIND, solve_run)
        pricing.register(price_books.book_for)
        declaring.register(queries.serving_workloads)
        navigation.register_count("workloads", queries.count_workloads)
        navigation.register_count("plans", queries.count_plans)
        search.register(_("Workloads"), queries.find_workloads)
        search.register(_("Plans"), queries.find_plans)
