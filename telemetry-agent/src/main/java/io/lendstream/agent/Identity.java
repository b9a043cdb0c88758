package io.lendstream.agent;

import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;

/** The identity of an agent, which is in every record that it writes. */
record Identity(NodeId node, DomainId domain, Pool pool, String boot) {}
