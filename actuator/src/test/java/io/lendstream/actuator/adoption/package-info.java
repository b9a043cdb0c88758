@NullMarked
package io.lendstream.actuator.adoption;

import org.jspecify.annotations.NullMarked;
