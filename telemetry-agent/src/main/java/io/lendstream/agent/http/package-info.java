/** What the agent shows over HTTP beside its own metrics: the GPUs, by the names that others use. */
@NullMarked
package io.lendstream.agent.http;

import org.jspecify.annotations.NullMarked;
