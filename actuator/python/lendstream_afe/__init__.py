"""Elastic data-parallel training: a job changes its number of GPUs between two steps, without a restart.

The protocol, the guarantees and an example are in docs/afe.md.
"""

from .elastic import Elastic, Step

__all__ = ["Elastic", "Step"]
