@NullMarked
package io.lendstream.simulator.published;

import org.jspecify.annotations.NullMarked;
