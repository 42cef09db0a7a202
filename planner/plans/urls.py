from django.urls import URLPattern

app_name = "plans"
urlpatterns: list[URLPattern] = []
