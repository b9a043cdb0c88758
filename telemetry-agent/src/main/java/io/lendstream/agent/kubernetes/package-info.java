/**
 * Data about this agent's own node from the Kubernetes API server. It has the pods with counted requests, and whether
 * GPUs are being repartitioned.
 */
@NullMarked
package io.lendstream.agent.kubernetes;

import org.jspecify.annotations.NullMarked;
