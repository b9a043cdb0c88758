package io.lendstream.agent;

import io.lendstream.core.event.NodeFacts;
import io.lendstream.core.id.DomainId;
import io.lendstream.core.id.NodeId;
import io.lendstream.core.id.Pool;

/**
 * The identity of an agent, which is in every record that it writes.
 *
 * @param facts what it was configured to say of its node
 */
record Identity(NodeId node, DomainId domain, Pool pool, String boot, NodeFacts facts) {}
