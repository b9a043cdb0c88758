/** What a cluster is made of: domains, nodes, GPUs, and who owns each GPU. Identifiers and ownership are values that cannot be wrong. */
@NullMarked
package io.lendstream.core.cluster;

import org.jspecify.annotations.NullMarked;
