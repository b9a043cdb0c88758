/** Specs of the report, and a specimen to look at. */
@NullMarked
package io.lendstream.simulator.report;

import org.jspecify.annotations.NullMarked;
