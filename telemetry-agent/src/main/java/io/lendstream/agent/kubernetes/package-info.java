/**
 * Data about this agent's own node from the Kubernetes API server: pods with counted requests, and whether its GPUs
 * are being repartitioned.
 */
@NullMarked
package io.lendstream.agent.kubernetes;

import org.jspecify.annotations.NullMarked;
