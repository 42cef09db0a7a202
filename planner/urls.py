"""All addresses. Only this file and the settings know every app."""

from django.urls import include, path

urlpatterns = [
    path("", include("planner.frame.urls")),
    path("", include("planner.inventory.urls")),
    path("", include("planner.plans.urls")),
    path("account/", include("planner.accounts.urls")),
    path("jobs/", include("planner.jobs.urls")),
]

handler400 = "planner.frame.views.bad_request"
handler403 = "planner.frame.views.permission_denied"
handler404 = "planner.frame.views.not_found"
handler500 = "planner.frame.views.server_error"
