"""Containers and wrappers: what is inside them does the work, and whoever interprets the program runs that."""

from __future__ import annotations

from torchlayout.ops.modules import Forward, module
from torchlayout.ops.values import UNKNOWN, Outcome

WRAPPED = ("torch.nn.parallel.DistributedDataParallel", "torch.nn.parallel.distributed.DistributedDataParallel")


def inside(call: Forward) -> Outcome:
    """as the modules inside"""
    del call
    return UNKNOWN


# fmt: off
module("Sequential(...)", inside, container="sequential")
module("ModuleList(Any? modules=None) -> None", inside, container="list")
module("ModuleDict(Any? modules=None) -> None", inside, container="dict")
module("ParameterList(Any? values=None) -> None", inside, container="parameter-list")
module("ParameterDict(Any? parameters=None) -> None", inside, container="parameter-dict")
module("DataParallel(Any module, Any? device_ids=None, Any? output_device=None, int dim=0) -> None", inside, container="wrapper")
module("DistributedDataParallel(Any module, Any? device_ids=None, Any? output_device=None, int dim=0, bool broadcast_buffers=True, bool init_sync=True, Any? process_group=None, float? bucket_cap_mb=None, bool find_unused_parameters=False, bool check_reduction=False, bool gradient_as_bucket_view=False, bool static_graph=False, Any? delay_all_reduce_named_params=None, Any? param_to_hook_all_reduce=None, Any? mixed_precision=None, Any? device_mesh=None, bool skip_all_reduce_unused_params=False) -> None", inside, container="wrapper", spellings=WRAPPED)
# fmt: on
