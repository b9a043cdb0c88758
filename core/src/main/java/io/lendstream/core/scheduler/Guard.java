package io.lendstream.core.scheduler;

import java.util.Optional;

/**
 * A rule that stands between a policy and what is done.
 *
 * @param rule what it asks for
 * @param forbids what is not done where that is not so
 * @param broken why it is not so; empty where it is
 */
public record Guard(String rule, String forbids, Optional<String> broken) {}
