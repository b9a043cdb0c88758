/** Checks and explains a domain's history: finds broken promises, and repeats decisions. It needs no broker. */
@NullMarked
package io.lendstream.core.history;

import org.jspecify.annotations.NullMarked;
