/** Strict parsers for the metrics that servers expose over HTTP: Prometheus' text format 0.0.4 and OpenMetrics 1.0. */
@NullMarked
package io.lendstream.agent.exposition;

import org.jspecify.annotations.NullMarked;
