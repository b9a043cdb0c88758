/** What GPUs a node has and what they do, seen through a driver, an exporter or a recording. Nothing here ends an agent. */
@NullMarked
package io.lendstream.agent.gpu;

import org.jspecify.annotations.NullMarked;
