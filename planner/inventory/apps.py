from django.apps import AppConfig


class InventoryConfig(AppConfig):
    name = "planner.inventory"
    label = "inventory"
