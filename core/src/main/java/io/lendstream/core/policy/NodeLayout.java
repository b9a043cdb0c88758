package io.lendstream.core.policy;

import io.lendstream.core.event.TopologyLevel;
import io.lendstream.core.id.NodeId;

/** The nodes of a cluster: how many GPUs each has, and in which topology domains it is. */
public interface NodeLayout {
    /** The GPUs of a node, whatever their state; those of one kind, if the scheduler tells kinds apart. */
    int gpusOf(NodeId node);

    /** The name of a node's domain at a level. */
    String domain(NodeId node, TopologyLevel level);
}
