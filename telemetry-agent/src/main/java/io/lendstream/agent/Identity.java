package io.lendstream.agent;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;

/** Whose agent it is, in every record that it writes. */
record Identity(NodeId node, DomainId domain, Pool pool, String boot) {}
