from django.urls import path

from planner.plans import export_views, plan_views, price_views, workload_views

app_name = "plans"
urlpatterns = [
    path("workloads/", workload_views.workload_list, name="workload-list"),
    path("workloads/new/<slug:kind>/", workload_views.workload_create, name="workload-create"),
    path("workloads/sizing/<slug:kind>/", workload_views.workload_sizing, name="workload-sizing"),
    path("workloads/import/", workload_views.workload_import, name="workload-import"),
    path("workloads/export/", workload_views.workload_export, name="workload-export-all"),
    path("workloads/<int:pk>/", workload_views.workload_detail, name="workload-detail"),
    path("workloads/<int:pk>/edit/", workload_views.workload_edit, name="workload-edit"),
    path("workloads/<int:pk>/clone/", workload_views.workload_clone, name="workload-clone"),
    path("workloads/<int:pk>/delete/", workload_views.workload_delete, name="workload-delete"),
    path("workloads/<int:pk>/export/", workload_views.workload_export, name="workload-export"),
    path("prices/", price_views.price_list, name="price-list"),
    path("prices/new/<slug:what>/", price_views.price_create, name="price-create"),
    path("prices/rate/", price_views.owned_rate, name="owned-rate"),
    path("prices/<int:pk>/edit/", price_views.price_edit, name="price-edit"),
    path("prices/<int:pk>/delete/", price_views.price_delete, name="price-delete"),
    path("plans/", plan_views.plan_list, name="plan-list"),
    path("plans/new/", plan_views.plan_create, name="plan-create"),
    path("plans/<int:pk>/", plan_views.plan_detail, name="plan-detail"),
    path("plans/<int:pk>/edit/", plan_views.plan_edit, name="plan-edit"),
    path("plans/<int:pk>/clone/", plan_views.plan_clone, name="plan-clone"),
    path("plans/<int:pk>/delete/", plan_views.plan_delete, name="plan-delete"),
    path("plans/<int:pk>/solve/", plan_views.plan_solve, name="plan-solve"),
    path("plans/<int:pk>/report.csv", export_views.plan_csv, name="plan-csv"),
    path("plans/<int:pk>/report.json", export_views.plan_json, name="plan-json"),
    path("plans/<int:pk>/<slug:tab>/", plan_views.plan_detail, name="plan-tab"),
]
