/** What operators are told, without a broker. */
@NullMarked
package io.lendstream.launcher.operation;

import org.jspecify.annotations.NullMarked;
