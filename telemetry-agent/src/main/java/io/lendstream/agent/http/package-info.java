/** The agent's HTTP pages beside its own metrics: GPU metrics under the names of other systems. */
@NullMarked
package io.lendstream.agent.http;

import org.jspecify.annotations.NullMarked;
