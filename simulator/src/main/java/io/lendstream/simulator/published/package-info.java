/**
 * The simulators of the DeepBoot and Pollux evaluations event by event, with their rounding and their flaws, so that
 * policies can be checked against published figures. What a policy decides is in {@code core.lending}; what only those
 * simulators do is here.
 *
 * @see <a href="https://doi.org/10.1109/TPDS.2023.3293835">DeepBoot, TPDS 2023</a>
 * @see <a href="https://www.usenix.org/conference/osdi21/presentation/qiao">Pollux, OSDI 2021</a>
 */
@NullMarked
package io.lendstream.simulator.published;

import org.jspecify.annotations.NullMarked;
