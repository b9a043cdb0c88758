/**
 * Publishes the inventory and the state of a node's GPUs to topics. A backend reads the hardware; the simulated
 * backend plays whole nodes.
 */
@NullMarked
package io.lendstream.agent;

import org.jspecify.annotations.NullMarked;
