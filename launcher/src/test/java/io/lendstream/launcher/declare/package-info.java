@NullMarked
package io.lendstream.launcher.declare;

import org.jspecify.annotations.NullMarked;
