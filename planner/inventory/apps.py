from django.apps import AppConfig


class InventoryConfig(AppConfig):
    name = "planner.inventory"
    label = "inventory"

    def ready(self) -> None:
        from planner.inventory import history, levels, menu, sync
        from planner.jobs import registry

        registry.register(sync.KIND, sync.sync_cluster, on_failed=sync.sync_failed)
        registry.register(levels.KIND, levels.lay_levels)
        registry.register_due("syncs", sync.ask_for_due_syncs)
        registry.register(history.KIND, history.prune_cluster)
        registry.register_due("aged snapshots", history.ask_for_due_prunes)
        registry.register_due("orphans", history.remove_orphans)
        menu.register()
