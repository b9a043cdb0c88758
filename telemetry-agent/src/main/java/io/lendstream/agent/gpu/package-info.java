/**
 * Inventory and state of a node's GPUs, read through a driver, an exporter or a recording. No failure here ends the
 * agent.
 */
@NullMarked
package io.lendstream.agent.gpu;

import org.jspecify.annotations.NullMarked;
