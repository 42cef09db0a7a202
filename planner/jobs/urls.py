from django.urls import path

from planner.jobs import views

app_name = "jobs"
urlpatterns = [
    path("<int:job_id>/", views.job_progress, name="progress"),
    path("<int:job_id>/cancel/", views.job_cancel, name="cancel"),
]
