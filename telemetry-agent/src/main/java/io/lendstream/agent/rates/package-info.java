/**
 * Request rates of services, from the metrics of their servers and gateways. A preset, which is a text file, maps a
 * server's metrics; a window is the difference between two readings.
 */
@NullMarked
package io.lendstream.agent.rates;

import org.jspecify.annotations.NullMarked;
