/** Judges what happened: reads a domain's history back and says where a promise was broken. Needs no broker. */
@NullMarked
package io.lendstream.core.history;

import org.jspecify.annotations.NullMarked;
