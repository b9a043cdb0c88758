/**
 * Reports of runs for people: facts gathered from the public records of a run, in bounded memory, and one
 * self-contained page made of them. The live demo and the replay in one thread feed the same collector.
 */
@NullMarked
package io.lendstream.simulator.report;

import org.jspecify.annotations.NullMarked;
