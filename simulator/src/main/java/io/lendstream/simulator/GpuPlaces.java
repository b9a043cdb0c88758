package io.lendstream.simulator;

import io.lendstream.core.id.GpuId;
import io.lendstream.core.id.KindId;
import io.lendstream.core.id.NodeId;
import java.util.Map;

/**
 * Where GPUs are, and what they are.
 *
 * @param nodes the node of every GPU
 * @param kinds the kind of every GPU
 */
record GpuPlaces(Map<GpuId, NodeId> nodes, Map<GpuId, KindId> kinds) {}
