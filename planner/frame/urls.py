from django.urls import URLPattern

app_name = "frame"
urlpatterns: list[URLPattern] = []
