from django.urls import path

from planner.accounts import audit_views, member_views, views

app_name = "accounts"
urlpatterns = [
    path("login/", views.user_login, name="login"),
    path("logout/", views.user_logout, name="logout"),
    path("profile/", views.profile_edit, name="profile"),
    path("password/", views.password_change, name="password"),
    path("theme/", views.theme_set, name="theme-set"),
    path("language/", views.language_set, name="language-set"),
    path("team/", views.team_switch, name="team-switch"),
    path("members/", member_views.member_list, name="member-list"),
    path("members/add/", member_views.member_add, name="member-add"),
    path("members/<int:member_id>/role/", member_views.member_role, name="member-role"),
    path("members/<int:member_id>/remove/", member_views.member_remove, name="member-remove"),
    path("members/<int:member_id>/active/", member_views.member_active, name="member-active"),
    path("audit/", audit_views.audit_list, name="audit-list"),
    path("audit.csv", audit_views.audit_csv, name="audit-csv"),
]
