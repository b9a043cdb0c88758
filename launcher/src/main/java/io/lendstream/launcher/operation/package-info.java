/**
 * Operating a deployment from its topics: why a decision was made, what people order, who has which GPU, what ails it.
 * Nothing here is known to services; they are told by control commands, and heard in what they write.
 */
@NullMarked
package io.lendstream.launcher.operation;

import org.jspecify.annotations.NullMarked;
