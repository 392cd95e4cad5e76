import { useNavigate } from '@tanstack/react-router';
import { useId, useMemo } from 'react';
import { Chart } from '../../charts/Chart.js';
import { curveOf, metricCurves } from '../../charts/metric-curves.js';
import { toUnit } from '../../charts/sparkline.js';
import { usePalette } from '../../charts/use-palette.js';
import { graphql, type ResultOf } from '../../graphql.js';
import { count, counted } from '../../text/numbers.js';
import { visibleText } from '../../text/visible-text.js';
import { Sparkline } from '../../ui/Sparkline.js';
import { without } from '../../without.js';
import { saidOf, sentence, valueText, wordsOf } from './diagnostic-text.js';
import { EvidenceList } from './EvidenceList.js';
import { settingsOf, type SettingsInForce } from './settings/queries.js';
import { Settings } from './settings/Settings.js';

export const DiagnosticFields = graphql(`
  fragment DiagnosticRow on Diagnostic @_unmask {
    id
    title
    question
    remedy
    asOf
    reading
    headline
    value
    values
    reasons
    missing
    failed
    settingsVersion
    pendingSteps
    evidence {
      trainingStep
      group
      trajectory
      turn
      note
    }
    curve(points: 120) {
      sampled
      count
      points {
        trainingStep
        value
      }
    }
  }
`);

export type Diagnostic = ResultOf<typeof DiagnosticFields>;

interface DiagnosticRowProps {
  readonly run: string;
  readonly diagnostic: Diagnostic;
  readonly inForce: SettingsInForce;
  /** the settings were changed */
  readonly onSet: () => void;
  readonly isOpen: boolean;
  /** an alert of it is open */
  readonly isAlerting: boolean;
}

/** One line: what it says, how that went over the training steps, the number that matters. Behind it the evidence. */
export function DiagnosticRow({ run, diagnostic, inForce, onSet, isOpen, isAlerting }: DiagnosticRowProps) {
  const { id, title, headline, value, curve, failed } = diagnostic;
  const setCount = Object.keys(settingsOf(inForce, id)).length;
  const navigate = useNavigate({ from: '/runs/$run' });
  const details = useId();
  const values = useMemo(() => toUnit(curveOf(headline, curve.points).value), [headline, curve]);
  const toggle = () =>
    void navigate({
      search: (old) => (isOpen ? without(old, 'diagnostic') : { ...old, diagnostic: id }),
      replace: true,
      resetScroll: false,
    });
  return (
    <article className={isAlerting ? 'reading reading-alerting' : 'reading'}>
      <button type="button" className="reading-line" aria-expanded={isOpen} aria-controls={details} onClick={toggle}>
        <span className="reading-title">
          {title}
          {setCount > 0 && <small className="badge">{counted(setCount, 'own setting')}</small>}
          {failed.length > 0 && <small className="badge badge-warn">failed</small>}
        </span>
        <span className="reading-says">{sentence(visibleText(saidOf(diagnostic)))}</span>
        <span className="reading-curve">{values.length > 1 && <Sparkline values={values} />}</span>
        <span className="number">{valueText(headline, value)}</span>
        <span className="chevron" aria-hidden="true" />
      </button>
      <div id={details} hidden={!isOpen}>
        {isOpen && <Details {...{ run, diagnostic, inForce, onSet }} />}
      </div>
    </article>
  );
}

const CURVE_HEIGHT = 150;

function Details({ run, diagnostic, inForce, onSet }: Omit<DiagnosticRowProps, 'isOpen' | 'isAlerting'>) {
  const { id, question, remedy, asOf, headline, values, reasons, evidence, missing, failed, pendingSteps, curve } =
    diagnostic;
  const palette = usePalette();
  const option = useMemo(
    () => metricCurves([curveOf(wordsOf(headline), curve.points)], { metric: headline, palette }),
    [headline, curve, palette],
  );
  const why = reasons as Record<string, string>;
  return (
    <div className="reading-details">
      <div>
        <p>{question}</p>
        <p className="hint">What helps when it alerts: {remedy}</p>
        <dl className="values">
          {Object.entries(values as Record<string, number | null>).map(([name, value]) => (
            <div key={name}>
              <dt>{wordsOf(name)}</dt>
              <dd className="number">
                {valueText(name, value)}
                {value === null && why[name] && <small> {visibleText(why[name])}</small>}
              </dd>
            </div>
          ))}
        </dl>
        {missing.map((text) => (
          <p key={text} className="lacking">
            not measured: {visibleText(text)}
          </p>
        ))}
        {failed.map((text) => (
          <p key={text} className="lacking">
            failed: {visibleText(text)}
          </p>
        ))}
        <p className="hint">
          Over the first {counted(asOf, 'event')}
          {pendingSteps > 0 && `; ${counted(pendingSteps, 'training step')} not measured yet`}.
        </p>
      </div>
      <div>
        {curve.points.length > 1 && (
          <div className="curve">
            <h4>
              {wordsOf(headline)}
              {curve.sampled && (
                <span className="hint">
                  {count(curve.points.length)} of {counted(curve.count, 'point')}
                </span>
              )}
            </h4>
            <Chart option={option} height={CURVE_HEIGHT} label={`${wordsOf(headline)} over training steps`} />
          </div>
        )}
        {evidence.length > 0 && (
          <>
            <h4>Evidence</h4>
            <EvidenceList run={run} places={evidence} />
          </>
        )}
      </div>
      <Settings {...{ run, inForce, onSet }} diagnostic={id} measuredWith={diagnostic.settingsVersion} />
    </div>
  );
}
