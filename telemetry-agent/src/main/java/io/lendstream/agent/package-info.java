/** What a node's GPUs are and do, published to topics. Hardware sits behind a backend; the simulated one plays whole nodes. */
@NullMarked
package io.lendstream.agent;

import org.jspecify.annotations.NullMarked;
