package io.lendstream.core.forecast.demand;

import java.util.OptionalDouble;

/**
 * A step of demand that nothing more is added to.
 *
 * @param number its start divided by the step length
 * @param arrivalsPerSecond requests offered per second; empty where too little of the step was reported
 */
public record ClosedStep(long number, OptionalDouble arrivalsPerSecond) {}
