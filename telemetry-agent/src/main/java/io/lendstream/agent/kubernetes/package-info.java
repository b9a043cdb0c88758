/** What the API server of Kubernetes tells of this agent's own node: which of its pods count requests, and whether its GPUs are being cut. */
@NullMarked
package io.lendstream.agent.kubernetes;

import org.jspecify.annotations.NullMarked;
