/** Metrics as servers show them over HTTP: Prometheus' text format 0.0.4 and OpenMetrics 1.0, read strictly. */
@NullMarked
package io.lendstream.agent.exposition;

import org.jspecify.annotations.NullMarked;
