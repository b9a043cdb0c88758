/**
 * Identifiers of domains, nodes, GPUs, jobs and services, and the rule for names. The lowest layer: it depends on
 * nothing else.
 */
@NullMarked
package io.lendstream.core.id;

import org.jspecify.annotations.NullMarked;
