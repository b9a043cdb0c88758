package io.lendstream.core.goodput;

import io.lendstream.core.id.KindId;

/** The step times of a job that were measured on a kind of GPU. */
public record KindSpeed(KindId kind, LearnedSpeed speed) {}
