/** The demo as a test: the whole loop on a small cluster. */
@NullMarked
package io.lendstream.launcher.demo;

import org.jspecify.annotations.NullMarked;
