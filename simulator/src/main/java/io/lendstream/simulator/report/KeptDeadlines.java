package io.lendstream.simulator.report;

/**
 * How many jobs finished by their deadlines.
 *
 * @param missed jobs that did not; jobs that still have time are in neither number
 */
public record KeptDeadlines(int met, int missed) {}
