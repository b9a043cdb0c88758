package io.lendstream.agent;

import io.lendstream.core.cluster.DomainId;
import io.lendstream.core.cluster.NodeId;
import io.lendstream.core.cluster.Pool;

/** Whose agent it is, in every record that it writes. */
record Identity(NodeId node, DomainId domain, Pool pool, String boot) {}
