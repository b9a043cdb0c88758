package io.lendstream.core.policy;

/**
 * What a policy is, in a line.
 *
 * @param name by which it is chosen
 * @param summary its objective, for the list of policies
 * @param elastic whether it changes the GPUs of running jobs
 * @param needsDurations whether it has to know how long jobs will run
 * @param looksAhead whether it uses demand forecasts
 */
public record PolicyInfo(String name, String summary, boolean elastic, boolean needsDurations, boolean looksAhead) {}
