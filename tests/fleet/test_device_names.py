"""Resource names: whose device it is, and what one unit of it is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fleet.device_names import accelerators_only, device_name, is_passthrough
from fleet.inventory import UnitKind


@pytest.mark.parametrize(
    ("resource", "vendor", "kind", "profile"),
    [
        ("nvidia.com/gpu", "nvidia", UnitKind.WHOLE, None),
        ("nvidia.com/gpu.shared", "nvidia", UnitKind.SHARE, None),
        ("nvidia.com/mig-3g.40gb", "nvidia", UnitKind.MIG, "3g.40gb"),
        ("nvidia.com/mig-1g.10gb.me", "nvidia", UnitKind.MIG, "1g.10gb+me"),
        ("nvidia.com/mig-1g.5gb.shared", "nvidia", UnitKind.SHARE, "1g.5gb"),
        ("nvidia.com/gpumem", "nvidia", UnitKind.MEMORY, None),
        ("nvidia.com/gpucores", "nvidia", UnitKind.CORE, None),
        ("nvidia.com/GRID_P40-1Q", "nvidia", UnitKind.VGPU, "1Q"),
        ("nvidia.com/GA102_GEFORCE_RTX_3090", "nvidia", UnitKind.WHOLE, None),
        ("amd.com/gpu", "amd", UnitKind.WHOLE, None),
        ("amd.com/spx_nps1", "amd", UnitKind.WHOLE, "spx_nps1"),
        ("amd.com/cpx_nps4", "amd", UnitKind.PARTITION, "cpx_nps4"),
        ("gpu.intel.com/xe", "intel", UnitKind.WHOLE, None),
        ("volcano.sh/vgpu-number", "nvidia", UnitKind.SHARE, None),
        ("aliyun.com/gpu-mem", "nvidia", UnitKind.MEMORY, None),
        ("foo.example/gpu", "unknown", UnitKind.UNCLASSIFIED, None),
        ("nvidia.com/a100", "nvidia", UnitKind.WHOLE, None),
        ("nvidia.com/gpu-a100-80gb", "nvidia", UnitKind.WHOLE, None),
        ("nvidia.com/rtx3090.shared", "nvidia", UnitKind.SHARE, None),
        ("nvidia.com/gadget", "nvidia", UnitKind.UNCLASSIFIED, None),
        ("nvidia.com/vgpu", "nvidia", UnitKind.UNCLASSIFIED, None),
        ("nvidia.com/mig-1g.24gb-me", "nvidia", UnitKind.MIG, "1g.24gb-me"),
        ("nvidia.com/mig-1g.24gb.me.all", "nvidia", UnitKind.MIG, "1g.24gb+me.all"),
        ("nvidia.com/NVIDIA_A10-24Q", "nvidia", UnitKind.VGPU, "24Q"),
        ("nvidia.com/TU104GL_Tesla_T4", "nvidia", UnitKind.WHOLE, None),
        ("k8s.amazonaws.com/vgpu", "nvidia", UnitKind.SHARE, None),
        ("foo.example/mlu-x", "unknown", UnitKind.UNCLASSIFIED, None),
        ("foo.example/NPU", "unknown", UnitKind.UNCLASSIFIED, None),
    ],
)
def test_a_gpu_resource_has_a_vendor_and_a_kind_of_unit(
    resource: str, vendor: str, kind: UnitKind, profile: str | None
) -> None:
    found = device_name(resource)
    assert found is not None
    assert (found.vendor, found.kind, found.profile) == (vendor, kind, profile)
    assert found.is_gpu


@pytest.mark.parametrize(
    ("resource", "vendor", "kind"),
    [("cambricon.com/mlu", "cambricon", UnitKind.WHOLE),
     ("cambricon.com/vmlu", "cambricon", UnitKind.SHARE),
     ("cambricon.com/mlu.smlu.vmemory", "cambricon", UnitKind.MEMORY),
     ("cambricon.com/mlu370.mim-2m.8gb", "cambricon", UnitKind.PARTITION),
     ("hygon.com/dcu", "hygon", UnitKind.WHOLE), ("hygon.com/dcunum", "hygon", UnitKind.SHARE),
     ("hygon.com/dcumem", "hygon", UnitKind.MEMORY), ("hygon.com/dcucores", "hygon", UnitKind.CORE),
     ("metax-tech.com/gpu", "metax", UnitKind.WHOLE),
     ("metax-tech.com/sgpu", "metax", UnitKind.SHARE),
     ("enflame.com/drs-gcu", "enflame", UnitKind.SHARE),
     ("enflame.com/vgcu-percentage", "enflame", UnitKind.CORE),
     ("kunlunxin.com/xpu", "kunlunxin", UnitKind.WHOLE),
     ("birentech.com/1-2-gpu", "biren", UnitKind.PARTITION),
     ("huawei.com/Ascend910", "huawei", UnitKind.WHOLE),
     ("huawei.com/Ascend910-4c", "huawei", UnitKind.PARTITION),
     ("huawei.com/npu-core", "huawei", UnitKind.CORE),
     ("mthreads.com/sgpu-core", "mthreads", UnitKind.CORE),
     ("iluvatar.ai/BI-V150.vMem", "iluvatar", UnitKind.MEMORY),
     ("iluvatar.ai/anything", "iluvatar", UnitKind.UNCLASSIFIED)],
)  # fmt: skip
def test_units_of_other_makers_are_devices_shares_memory_or_cores(
    resource: str, vendor: str, kind: UnitKind
) -> None:
    found = device_name(resource)
    assert found is not None
    assert (found.vendor, found.kind, found.is_gpu) == (vendor, kind, False)


@pytest.mark.parametrize(
    "resource",
    ["google.com/tpu", "aws.amazon.com/neuron", "habana.ai/gaudi", "huawei.com/Ascend910"],
)
def test_another_accelerator_is_no_gpu(resource: str) -> None:
    found = device_name(resource)
    assert found is not None
    assert not found.is_gpu


@pytest.mark.parametrize(
    "resource",
    ["cpu", "memory", "nvidia.com/hostdev", "vpc.amazonaws.com/efa", "rdma/hca_shared",
     "gpu.intel.com/monitoring", "gpu.intel.com/xe_monitoring", "aliyun.com/gpu-count",
     "nvidia.com/mlnxnics", "nvidia.com/sriov_rdma", "nvidia.com/priority", "nvidia.com/ib0",
     "devices.kubevirt.io/kvm", "example.com/gadget", "x" * 400 + "/gpu"],
)  # fmt: skip
def test_what_is_no_accelerator_has_no_name(resource: str) -> None:
    assert device_name(resource) is None


def test_only_accelerators_are_kept_of_a_request() -> None:
    requests = {"nvidia.com/gpu": 2, "rdma/hca": 1, "google.com/tpu": 4, "amd.com/gpu": 0}
    assert accelerators_only(requests) == {"nvidia.com/gpu": 2, "google.com/tpu": 4}


def test_boards_for_virtual_machines_are_told_apart() -> None:
    assert is_passthrough("nvidia.com/GH100_H100_SXM5_80GB")
    assert not is_passthrough("nvidia.com/gpu")
    assert not is_passthrough("nvidia.com/GRID_P40-1Q")


@given(st.text(max_size=60))
def test_any_text_is_a_device_or_none(text: str) -> None:
    found = device_name(text)
    assert found is None or found.vendor
