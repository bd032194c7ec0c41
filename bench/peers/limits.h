// What the machine can do at the current number of threads, measured when called.
#pragma once

namespace attend::peers {

double fma_peak();        // fp32 operations a second, a multiply-add counting as two
double bandwidth();       // bytes a second, reading memory or updating it, whichever is faster
double read_bandwidth();  // the same, reading alone

}  // namespace attend::peers
