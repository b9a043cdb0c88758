@NullMarked
package io.lendstream.actuator.driver;

import org.jspecify.annotations.NullMarked;
