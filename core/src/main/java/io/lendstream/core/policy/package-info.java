/**
 * What a policy is and what it sees. A policy proposes the GPUs of each training job and names the loans whose return
 * costs least; it never acts by itself. The policies are in the packages below.
 */
@NullMarked
package io.lendstream.core.policy;

import org.jspecify.annotations.NullMarked;
