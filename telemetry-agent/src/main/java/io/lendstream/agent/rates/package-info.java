/**
 * How many requests services are offered, read from the metrics that their servers and gateways expose: which metric says what of
 * which server is a preset, a file of text; what two readings differ by is a window.
 */
@NullMarked
package io.lendstream.agent.rates;

import org.jspecify.annotations.NullMarked;
