from django.urls import path

from planner.frame import views

app_name = "frame"
urlpatterns = [
    path("search/", views.search_results, name="search"),
    path("healthz", views.healthz, name="healthz"),
    path("readyz", views.readyz, name="readyz"),
]
